"""The formulas: functions of NumPy arrays."""
