"""``pt.Experiment`` with the direction of each measure."""
