"""What a leaderboard can say: intervals of ranks over topics, unjudged documents and judges."""
