#include "report_html.h"

#include <stdlib.h>

#include "lab/failover/page/page.h"
#include "lab/load/html.h"
#include "report.h"

#define BAR_BUCKETS 16u  /* of the histogram, for each bar: eight bars for an octave */
#define LEAST_BARS 12u   /* an octave and a half, in which 1, 2 or 5 is somewhere */
#define MANY_BARS 72u    /* with more of them there is room for powers of ten only */
#define HEIGHT 110.0

/* The bars of one histogram; the axis is that of its buckets, which is logarithmic. */
struct bars {
    const struct histogram *histogram;
    uint32_t first, n;
    uint64_t highest;
};

static uint64_t count_of(const struct bars *bars, uint32_t bar)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < BAR_BUCKETS; i++) {
        uint32_t bucket = (bars->first + bar) * BAR_BUCKETS + i;

        count += bucket < HISTOGRAM_BUCKETS ? bars->histogram->buckets[bucket] : 0;
    }
    return count;
}

static struct bars bars_of(const struct histogram *histogram)
{
    struct bars bars = {.histogram = histogram, .first = histogram_bucket(histogram->min) / BAR_BUCKETS};

    bars.n = histogram_bucket(histogram->max) / BAR_BUCKETS - bars.first + 1;
    if (bars.n < LEAST_BARS)
        bars.n = LEAST_BARS;
    for (uint32_t i = 0; i < bars.n; i++) {
        uint64_t count = count_of(&bars, i);

        bars.highest = count > bars.highest ? count : bars.highest;
    }
    return bars;
}

static double percent(const struct bars *bars, uint64_t ns)
{
    return 100 * ((histogram_bucket(ns) + 0.5) / BAR_BUCKETS - bars->first) / bars->n;
}

static void write_time(FILE *out, double ns)
{
    if (ns < 1e6)
        fprintf(out, "%.4g \u00b5s", ns / 1e3);
    else if (ns < 1e9)
        fprintf(out, "%.4g ms", ns / 1e6);
    else
        fprintf(out, "%.4g s", ns / 1e9);
}

static void write_bars(FILE *out, const struct bars *bars)
{
    for (uint32_t i = 0; i < bars->n; i++) {
        uint64_t count = count_of(bars, i);
        double height = HEIGHT * (double)count / (double)bars->highest;

        if (count == 0)
            continue;
        height = height < 1 ? 1 : height;
        fprintf(out, "<rect class=\"bar\" x=\"%.3f%%\" width=\"%.3f%%\" y=\"%.1f\" height=\"%.1f\"><title>%llu from ",
                100.0 * i / bars->n, 90.0 / bars->n, HEIGHT - height, height, (unsigned long long)count);
        write_time(out, (double)histogram_middle((bars->first + i) * BAR_BUCKETS));
        fputs(" on</title></rect>\n", out);
    }
}

static void write_quantile(FILE *out, const struct bars *bars, double q)
{
    double at = percent(bars, histogram_quantile(bars->histogram, q));

    fprintf(out, "<line class=\"limit\" x1=\"%.3f%%\" x2=\"%.3f%%\" y1=\"0\" y2=\"%.0f\"/>\n", at, at, HEIGHT);
}

static void write_axis(FILE *out, const struct bars *bars)
{
    fputs("<svg height=\"18\">", out);
    for (uint64_t power = 1; power >> HISTOGRAM_MAX_BITS == 0; power *= 10)
        for (uint64_t digit = 1; digit <= (bars->n > MANY_BARS ? 1 : 5); digit += digit == 2 ? 3 : 1) {
            double at = percent(bars, digit * power);

            if (at < 0 || at > 100)
                continue;
            fprintf(out, "<text class=\"tick\" x=\"%.3f%%\" y=\"13\" text-anchor=\"%s\">", at,
                    at < 4 ? "start" : at > 96 ? "end" : "middle");
            write_time(out, (double)(digit * power));
            fputs("</text>", out);
        }
    fputs("</svg>\n", out);
}

static void write_histogram(FILE *out, const char *name, const struct histogram *histogram)
{
    static const struct {
        const char *name;
        double q;
    } quantiles[] = {{"p50", 0.5}, {"p99", 0.99}, {"max", 1}};
    struct bars bars;

    if (histogram->count == 0)
        return;
    bars = bars_of(histogram);
    fprintf(out, "<h3>%s</h3>\n<p class=\"soft small\">%llu", name, (unsigned long long)histogram->count);
    for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++) {
        fprintf(out, ", %s ", quantiles[i].name);
        write_time(out, (double)histogram_quantile(histogram, quantiles[i].q));
    }
    fprintf(out, "</p>\n<svg height=\"%.0f\" role=\"img\" aria-label=\"how long it took: %s\">\n"
            "<rect class=\"base\" width=\"100%%\" y=\"%.0f\" height=\"1\"/>\n", HEIGHT, name, HEIGHT);
    write_bars(out, &bars);
    write_quantile(out, &bars, 0.5);
    write_quantile(out, &bars, 0.99);
    fputs("</svg>\n", out);
    write_axis(out, &bars);
}

static void write_record(FILE *out, const char *title, const struct bench_record *record)
{
    if (record->acquire.count + record->release.count + record->gap.count == 0)
        return;
    fprintf(out, "<section class=\"card\">\n<h2>%s</h2>\n<p class=\"soft small\">How often each time was measured; the "
            "axis is logarithmic. The dashed lines are at p50 and p99.</p>\n", title);
    write_histogram(out, "acquire", &record->acquire);
    write_histogram(out, "release", &record->release);
    write_histogram(out, "release to next", &record->gap);
    fputs("</section>\n", out);
}

/* The text of the report, as it is printed for people. */
static void write_text(FILE *out, const struct bench_options *options, size_t nodes, const struct bench_measurement *m)
{
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);

    if (memory) {
        bench_report_text(memory, options, nodes, m);
        fclose(memory);
    }
    load_html_text(out, text ? text : "There was no memory for the figures.");
    free(text);
}

void bench_report_html(FILE *out, const struct bench_options *options, size_t nodes,
                       const struct bench_measurement *m)
{
    const struct bench_result *result = &m->library;

    fprintf(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
            "<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>redlock-lab bench: %s</title>\n<style>\n",
            options->scenario->name);
    fputs(FO_REPORT_CSS, out);
    fprintf(out, "</style>\n</head>\n<body>\n<main>\n<h1>%s</h1>\n<p class=\"soft\">Measured by redlock-lab bench: ",
            options->scenario->name);
    load_html_text(out, options->scenario->text);
    fputs("</p>\n<section class=\"card\">\n<h2>Figures</h2>\n<pre style=\"overflow-x: auto\">", out);
    write_text(out, options, nodes, m);
    fputs("</pre>\n</section>\n", out);
    for (uint32_t i = 0; i < result->phases; i++)
        write_record(out, result->phases == 1 ? "Times" : i ? "Times after the fault" : "Times before the fault",
                     &result->record[i]);
    fputs("</main>\n</body>\n</html>\n", out);
}
