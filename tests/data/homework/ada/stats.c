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

/* Insertion sort is fast enough for a thousand numbers. */
static void sort(int *numbers, int count) {
    for (int i = 1; i < count; i++) {
        int value = numbers[i];
        int j = i - 1;
        while (j >= 0 && numbers[j] > value) {
            numbers[j + 1] = numbers[j];
            j--;
        }
        numbers[j + 1] = value;
    }
}

double median(int *numbers, int count) {
    sort(numbers, count);
    int middle = count / 2;
    if (count % 2 == 1)
        return numbers[middle];
    return (numbers[middle - 1] + numbers[middle]) / 2.0;
}

int longest_run(const int *numbers, int count) {
    int longest = 1, length = 1;
    for (int i = 1; i < count; i++) {
        if (numbers[i] == numbers[i - 1])
            length++;
        else
            length = 1;
        if (length > longest)
            longest = length;
    }
    return longest;
}
