-- The connect-disconnect protocol of Jard and Jéron's report (1989, figure 6): A connects and closes, B may disconnect.
-- The figure is lost; this is the protocol whose number of states is the one the report gives, n²/4 + 3 (n + 1).
-- volee check connect-disconnect.scm --engine channels
scm connect_disconnect :
nb_channels = 2 ;
parameters :
real connect ;
real close ;
real disconnect ;

automaton A :
initial : 0
state 0 :
to 1 : when true , 0 ! connect ;
state 1 :
to 0 : when true , 0 ! close ;
to 0 : when true , 1 ? disconnect ;

automaton B :
initial : 0
state 0 :
to 1 : when true , 0 ? connect ;
state 1 :
to 0 : when true , 0 ? close ;
to 0 : when true , 1 ! disconnect ;
