"""What unjudged documents could change between two runs, and which to judge next."""
