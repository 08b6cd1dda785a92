"""What every package needs: lazy imports, checks of options, notices, threads, array types."""
