unsigned long larger(unsigned long than);
