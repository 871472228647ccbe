typedef T { byte a; byte b[2] } chan c = [2] of { byte, T }; T t, u; byte k;
init { t.a = 1; t.b[1] = 5; c!3,t; c!4(t); c?k,u; assert(u.b[1] == 5); c?eval(k+1),u }
