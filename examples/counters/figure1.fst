// Figure 1 of Boigelot & Wolper (1994): a million states in four locations.
model figure1 {
  var x;
  states s1, s2, s3, s4;
  transition start := { from := s1; to := s2; guard := true; action := x' = 0; };
  transition add   := { from := s2; to := s3; guard := true; action := x' = x + 2; };
  transition again := { from := s3; to := s2; guard := x <= 1000000; action := ; };
  transition leave := { from := s3; to := s4; guard := x > 1000000; action := ; };
}
strategy s {
  Region init := { state = s1 };
  Transitions t := { start, add, again, leave };
  Region reach := post*(init, t);
}
