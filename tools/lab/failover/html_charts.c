#include "html_charts.h"

#include <math.h>

#include "html_lanes.h"

#define HEIGHT 110 /* of a chart, in pixels */
#define MARGIN 1.5

/* A chart's vertical scale. */
struct scale {
    bool logarithmic;
    double low, high;
};

static double y_of(const struct scale *scale, double value)
{
    double low = scale->logarithmic ? log10(scale->low) : scale->low;
    double high = scale->logarithmic ? log10(scale->high) : scale->high;
    double at = scale->logarithmic ? log10(value > scale->low ? value : scale->low) : value;
    double part = (at - low) / (high - low);

    return HEIGHT - MARGIN - (part > 1 ? 1 : part) * (HEIGHT - 2 * MARGIN);
}

static void begin(FILE *out, const struct fo_outcome *outcome, const char *what)
{
    fprintf(out, "<svg height=\"%d\" role=\"img\" aria-label=\"%s, %s\">", HEIGHT, outcome->scenario->name, what);
    fo_html_grid(out, outcome);
    fo_html_band(out, outcome);
}

static void grid_line(FILE *out, const struct scale *scale, double value)
{
    fprintf(out, "<line class=\"grid\" x1=\"0\" x2=\"100%%\" y1=\"%.1f\" y2=\"%.1f\"/>", y_of(scale, value),
            y_of(scale, value));
}

static void label(FILE *out, const struct scale *scale, double value, double shown, const char *unit)
{
    fprintf(out, "<i style=\"top:%.1fpx\">%g%s</i>", y_of(scale, value), shown, unit);
}

static void begin_stretched(FILE *out, size_t n)
{
    fprintf(out, "<svg width=\"100%%\" height=\"%d\" viewBox=\"0 0 %zu %d\" preserveAspectRatio=\"none\">", HEIGHT, n,
            HEIGHT);
}

static double per_second(uint32_t in_bucket)
{
    return (double)in_bucket * 1e9 / (double)FO_BUCKET_NS;
}

/* The last bucket is cut short by the end. */
static size_t n_whole(const struct fo_outcome *outcome)
{
    return outcome->n_buckets > 1 ? outcome->n_buckets - 1 : outcome->n_buckets;
}

typedef double (*value_fn)(const struct fo_bucket *bucket);

/* The area between two outlines: there along the upper one, back along the lower one. */
static void area(FILE *out, const char *class, const struct fo_outcome *outcome, const struct scale *scale,
                 value_fn lower, value_fn upper)
{
    size_t n = n_whole(outcome);

    fprintf(out, "<path class=\"%s\" d=\"M0 %.1f", class, y_of(scale, lower(&outcome->buckets[0])));
    for (size_t i = 0; i < n; i++)
        fprintf(out, "V%.1fH%zu", y_of(scale, upper(&outcome->buckets[i])), i + 1);
    for (size_t i = n; i > 0; i--)
        fprintf(out, "V%.1fH%zu", y_of(scale, lower(&outcome->buckets[i - 1])), i - 1);
    fputs("Z\"/>", out);
}

static void outline(FILE *out, const char *class, const struct fo_outcome *outcome, const struct scale *scale,
                    value_fn value)
{
    fprintf(out, "<path class=\"%s\" d=\"M0 %.1f", class, y_of(scale, value(&outcome->buckets[0])));
    for (size_t i = 0; i < n_whole(outcome); i++)
        fprintf(out, "V%.1fH%zu", y_of(scale, value(&outcome->buckets[i])), i + 1);
    fputs("\"/>", out);
}

static double nothing(const struct fo_bucket *bucket)
{
    return 0;
}

static double acquired(const struct fo_bucket *bucket)
{
    return per_second(bucket->acquired);
}

static double ended(const struct fo_bucket *bucket)
{
    return per_second(bucket->acquired + bucket->refused);
}

static double offered(const struct fo_bucket *bucket)
{
    return per_second(bucket->offered);
}

void fo_html_throughput(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    double step = report->options->rate / 2.0;
    struct scale scale = {.high = 3 * step};

    fputs("<div class=\"row\"><div class=\"lab\">", out);
    for (int i = 0; i <= 3; i++)
        label(out, &scale, i * step, i * step, i == 3 ? "/s" : "");
    fputs("</div>", out);
    begin(out, outcome, "locks a second");
    for (int i = 0; i <= 3; i++)
        grid_line(out, &scale, i * step);
    begin_stretched(out, n_whole(outcome));
    area(out, "ok", outcome, &scale, nothing, acquired);
    area(out, "no", outcome, &scale, acquired, ended);
    outline(out, "want", outcome, &scale, offered);
    fputs("</svg></svg></div>\n", out);
}

/* A line through the buckets that have a value, broken where there is none. */
static void line(FILE *out, const char *class, const struct fo_outcome *outcome, const struct scale *scale,
                 int64_t (*value)(const struct fo_bucket *bucket))
{
    bool drawing = false;

    fprintf(out, "<path class=\"%s\" d=\"", class);
    for (size_t i = 0; i < n_whole(outcome); i++) {
        int64_t ns = value(&outcome->buckets[i]);

        if (ns >= 0)
            fprintf(out, "%s%.1f %.1f", drawing ? "L" : "M", (double)i + 0.5, y_of(scale, (double)ns / 1e6));
        drawing = ns >= 0;
    }
    fputs("\"/>", out);
}

static int64_t p50(const struct fo_bucket *bucket)
{
    return bucket->p50_ns;
}

static int64_t p99(const struct fo_bucket *bucket)
{
    return bucket->p99_ns;
}

static void slowest(FILE *out, const struct fo_outcome *outcome, const struct scale *scale)
{
    for (size_t i = 0; i < n_whole(outcome); i++)
        if (outcome->buckets[i].max_ns >= 0)
            fprintf(out, "<circle class=\"dot\" cx=\"%.2f%%\" cy=\"%.1f\" r=\"1.6\"/>",
                    100.0 * ((double)i + 0.5) / (double)n_whole(outcome),
                    y_of(scale, (double)outcome->buckets[i].max_ns / 1e6));
}

/* Whole decades, from 0.1 ms to what holds everything. */
static struct scale latency_scale(const struct fo_outcome *outcome)
{
    struct scale scale = {.logarithmic = true, .low = 0.1, .high = 10};

    for (size_t i = 0; i < outcome->n_buckets; i++)
        while ((double)outcome->buckets[i].max_ns / 1e6 > scale.high)
            scale.high *= 10;
    return scale;
}

void fo_html_latency(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome)
{
    struct scale scale = latency_scale(outcome);

    fputs("<div class=\"row\"><div class=\"lab\">", out);
    for (double at = scale.low; at < scale.high * 1.1; at *= 10)
        label(out, &scale, at, at < 999 ? at : at / 1000, at < 999 ? " ms" : " s");
    fputs("</div>", out);
    begin(out, outcome, "time to get a lock");
    for (double at = scale.low; at < scale.high * 1.1; at *= 10)
        grid_line(out, &scale, at);
    begin_stretched(out, n_whole(outcome));
    line(out, "p99", outcome, &scale, p99);
    line(out, "p50", outcome, &scale, p50);
    fputs("</svg>", out);
    slowest(out, outcome, &scale);
    fputs("</svg></div>\n", out);
}
