echo hello > z; gzip z; ls; gunzip z.gz; cat z
