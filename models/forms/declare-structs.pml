typedef T { byte a; byte b[2] = 7 }
init { T t; t.a = t.b[1]; T u; u.a = 3; T v[2]; v[1].a = u.a + u.b[0] }
