// expect: exit 0|1|124|137
// expect: text < 70000
({ get a() { while (true) {} }, toJSON() { while (true) {} } });
