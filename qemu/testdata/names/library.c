/* A library whose function count has two versions, and gone only an old one. */
long count_1(long a) { asm volatile(""); return a; }
long count_2(long a) { asm volatile(""); return a + 1; }
long gone_1(long a) { asm volatile(""); return a + 2; }
__asm__(".symver count_1,count@V_1\n.symver count_2,count@@V_2\n.symver gone_1,gone@V_1");
