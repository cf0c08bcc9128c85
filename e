slow/a on cpu: ok
