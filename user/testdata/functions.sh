f() { echo "$1 of $#: $*"; }; f a 'b c' d; x=5; echo $((x * 3 + 1)) ${x:-no} ${y:-yes} "$(echo sub; echo shell)"
