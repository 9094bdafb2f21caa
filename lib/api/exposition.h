/* Prometheus's text format: families of samples, with their labels. Numbers are written by digits alone, since a
 * conversion by printf would use the decimal point of the program's locale. */
#ifndef RL_API_EXPOSITION_H
#define RL_API_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/metrics.h>

struct redlock_histogram;

/* What has been written so far, and what would have been with more room; and the labels of all samples. */
struct rl_text {
    char *at;
    size_t size;
    size_t length;
    const struct redlock_metric_label *labels;
    size_t n_labels;
};

/* The other labels of a sample; each may be NULL. */
struct rl_own_labels {
    const char *node;
    const char *key_class;
    const char *name, *value; /* of one more */
};

/* Can these be labels of all samples? */
bool rl_labels_are_usable(const struct redlock_metric_label *labels, size_t n);

/* Begins a family, whose samples follow. `kind`: counter, gauge or histogram. */
void rl_text_head(struct rl_text *text, const char *family, const char *kind, const char *help);
void rl_text_count(struct rl_text *text, const char *family, const struct rl_own_labels *own, int64_t number);
void rl_text_seconds(struct rl_text *text, const char *family, const struct rl_own_labels *own, int64_t us);
void rl_text_histogram(struct rl_text *text, const char *family, const struct rl_own_labels *own,
                       const struct redlock_histogram *histogram);

#endif
