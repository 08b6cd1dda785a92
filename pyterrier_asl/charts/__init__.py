"""The papers' figures as Altair charts of the frames that the analyses return.

Each is one function, frame in, chart out: shown in a notebook as it is, saved with
``chart.save("figure.html")``, or as SVG, PDF or PNG. Needs Altair: ``pip install
pyterrier-asl[charts]``.
"""
