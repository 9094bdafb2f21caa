/* Programs that call any function of the public interface at any time, and what is always true for them. */
#ifndef SIM_PUBLIC_PROGRAMS_H
#define SIM_PUBLIC_PROGRAMS_H

void programs_start(void);

/* Somebody calls something. */
void programs_act(void);

/* After everything that happens. */
void programs_check(void);

/* Whoever waits without end does so no more; whoever holds something gives it back. */
void programs_wind_up(void);

/* All objects and clients end, in order or not. */
void programs_close(void);

/* The memory of what a violation has left. */
void programs_end(void);

#endif
