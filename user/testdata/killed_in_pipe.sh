sh -c 'kill -9 $PPID' 2>/dev/null | cat; echo next
