typedef A { byte x; short y[2] } typedef B { A a[2]; chan c } B b;
init { b.a[1].y[0] = 3; b.a[0] .x = b.a[1].y[0]; assert(b.a[0].x == 3) }
