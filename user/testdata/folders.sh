mkdir -p a/b; touch a/b/c a/d; cp a/d a/e; mv a/e a/f; ls a; rm -r a/b; ls a; [ -e a/b ]; echo $?
