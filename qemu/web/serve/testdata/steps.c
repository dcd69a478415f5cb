int steps(int n)
{
	int count = 0;

	while (n != 1) { /* it always is, one day */
		n = n % 2 ? 3 * n + 1 : n / 2;
		count++;
	}
	return count;
}

int main(void)
{
	return steps(6);
}
