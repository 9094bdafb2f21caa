/* The statistics of a client in Prometheus's text format, for a page that Prometheus reads, or a file for the textfile
 * collector of its node_exporter. The caller sends or writes the text; nothing is allocated, printed or kept here.
 *
 *     char page[16384];
 *     int length = redlock_client_metrics(client, NULL, 0, page, sizeof page);
 *
 *     if (length >= 0 && (size_t)length < sizeof page)
 *         send_response(request, "text/plain; version=0.0.4", page, (size_t)length);
 */
#ifndef REDLOCK_METRICS_H
#define REDLOCK_METRICS_H

#include <stddef.h>

#include <redlock/export.h>

#ifdef __cplusplus
extern "C" {
#endif

struct redlock_client;
struct redlock_service;

/* A label that all samples get: where texts of several clients meet, it tells them apart. */
struct redlock_metric_label {
    const char *name;  /* letters, digits and _, no digit first and no __; not node, result, vote or version */
    const char *value; /* any bytes: what must be escaped is, and what is not UTF-8 becomes U+FFFD */
};

/* Writes the text and a terminating 0, cut short to `size` bytes in all, and returns the length of the whole text
 * without that 0, as snprintf() does: a buffer of length + 1 bytes holds it. With size 0 the buffer may be NULL. The
 * text has some 4 KiB, and 2 KiB for each master. It may grow by some bytes from one call to the next, since numbers
 * do, so leave room where a first call is to find the length.
 *
 * Negative: a caller error. REDLOCK_E_ARGUMENT: no client, no buffer, or a label whose name is as above or that is
 * given twice. */
REDLOCK_API int redlock_client_metrics(const struct redlock_client *client, const struct redlock_metric_label *labels,
                                       size_t n_labels, char *ret_text, size_t size);

/* The same of the client behind a service, from any thread; it waits for the service's loop, as
 * redlock_service_stats() does. */
REDLOCK_API int redlock_service_metrics(struct redlock_service *service, const struct redlock_metric_label *labels,
                                        size_t n_labels, char *ret_text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
