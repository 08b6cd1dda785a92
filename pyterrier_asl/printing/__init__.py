"""Tables and parts of results: on terminals, in files, as LaTeX and Markdown."""
