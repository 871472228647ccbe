#define TAKE(c, v) c?v; \
 v++
chan c = [1] of { byte }; byte v; init { c!3; TAKE(c, v); assert(v == 4) }
