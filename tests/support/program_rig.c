#include "program_rig.h"

struct rig rig;

void rig_three(void)
{
    rig_open(&rig, 3);
}

void rig_five(void)
{
    rig_open(&rig, 5);
}

void rig_end(void)
{
    rig_close(&rig);
}
