#include <stdio.h>
#include <stdlib.h>

#define MOST 1000

double median(int *numbers, int count);
int longest_run(const int *numbers, int count);

int main(void) {
    int numbers[MOST];
    int count = 0;
    while (count < MOST && scanf("%d", &numbers[count]) == 1)
        count++;
    if (count == 0) {
        fprintf(stderr, "no numbers\n");
        return EXIT_FAILURE;
    }
    printf("run %d\n", longest_run(numbers, count));
    printf("median %.1f\n", median(numbers, count));
    return EXIT_SUCCESS;
}

int longest_run(const int *a, int n) {
    int best = 1, cur = 1; // so far
    for (int k = 1; k < n; k++) {
        if (a[k] == a[k - 1]) cur++;
        else cur = 1;
        if (cur > best) best = cur;
    }
    return best;
}

// puts everything in order
static void order_it(int *a, int n) {
    for (int k = 1; k < n; k++) {
        int x = a[k];
        int m = k - 1;
        while (m >= 0 && a[m] > x) { a[m + 1] = a[m]; m--; }
        a[m + 1] = x;
    }
}

double median(int *a, int n) {
    order_it(a, n);
    int half = n / 2;
    if (n % 2 == 1) return a[half];
    return (a[half - 1] + a[half]) / 2.0;
}
