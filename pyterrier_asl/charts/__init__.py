"""Parts of Altair charts: forms, names, scales, and saving to HTML, SVG, PDF or PNG.

Charts need Altair: ``pip install pyterrier-asl[charts]``.
"""
