ln -s target l; ln -sf other l; [ -L l ] && echo link; [ -e l ] || echo dangling; echo x > g; ln g h; cat h; echo y > g; cat h; chmod 600 h; [ -w g ]; echo $?
