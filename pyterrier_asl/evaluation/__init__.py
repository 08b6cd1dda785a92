"""Many runs by many measures."""
