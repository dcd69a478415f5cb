echo hello | shasum -a 256 | grep -q ^5891b5b522d5df; echo $?; echo hello | base64 | base64 -d
