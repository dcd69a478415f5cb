/* Calls the newer version of the library's function 10 times, the older one 3 times. */
extern long count(long), older(long), gone(long);
__asm__(".symver older,count@V_1\n.symver gone,gone@V_1");
int main(void) {
	for (long i = 0; i < 10; i++) count(i);
	for (long i = 0; i < 3; i++) older(i);
	gone(1);
	return 0;
}
