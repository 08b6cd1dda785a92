"""The numbers: pure functions, NumPy arrays in, NumPy arrays out, nothing else known."""
