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

static int compare(const void *left, const void *right) {
    const int *l = left, *r = right;
    return (*l > *r) - (*l < *r);
}

double median(int *numbers, int count) {
    qsort(numbers, count, sizeof *numbers, compare);
    int *low = numbers + (count - 1) / 2;
    int *high = numbers + count / 2;
    return 0.5 * *low + 0.5 * *high;
}

int longest_run(const int *numbers, int count) {
    const int *end = numbers + count;
    int best = 0;
    while (numbers != end) {
        const int *start = numbers;
        do ++numbers; while (numbers != end && *numbers == *start);
        int run = numbers - start;
        best = run > best ? run : best;
    }
    return best;
}
