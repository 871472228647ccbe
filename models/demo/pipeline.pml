/* Parcels pass a row of stations, each with a shelf of its own. No station minds what the others do in the meantime. */
#ifndef STATIONS
#define STATIONS 5
#endif
#define PARCELS 6

chan shelf[STATIONS] = [2] of { byte };

proctype Station(chan in; chan out) {
	byte parcel, seen;
	do
	:: seen < PARCELS ->
		in?parcel;
		assert(parcel == seen);
		seen++;
		out!parcel
	:: else -> break
	od
}

init {
	byte n;
	atomic {
		for (n : 1 .. STATIONS - 1) {
			run Station(shelf[n - 1], shelf[n])
		}
	};
	for (n : 0 .. PARCELS - 1) {
		shelf[0]!n
	};
	n = 0;
	do
	:: n < PARCELS -> shelf[STATIONS - 1]?eval(n); n++
	:: else -> break
	od
}
