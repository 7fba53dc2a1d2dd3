// expect: exit 124|137|1
(2n ** (2n ** 26n)).toString();
