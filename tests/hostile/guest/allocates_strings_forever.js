// expect: exit 1|137|124
let s = "x"; for (;;) s += s + "y";
