"""``python -m pyterrier_asl``: the command ``pyterrier-asl``."""

from .cli import main

if __name__ == "__main__":
    main(prog_name="pyterrier-asl")
