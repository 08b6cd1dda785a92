"""The report: one page that says where relevant documents are lost, who differs, and why.

The package is not called ``report`` because that is the function's name: a module of one name would
take the function's place in :mod:`pyterrier_asl` as soon as it is imported.
"""
