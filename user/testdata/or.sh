false || echo or
