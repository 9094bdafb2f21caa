/* The statistics of a client in the text format of Prometheus, which the program sends as a page, or writes to a file
 * for the textfile collector of node_exporter. These functions allocate, print and keep nothing.
 *
 *     static char page[131072];
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

/* A label of all samples, by which Prometheus tells several clients apart. */
struct redlock_metric_label {
    const char *name;  /* letters, digits and _, but no digit first and no __; key_class, le, node, reason, result,
                          vote and version are taken */
    const char *value; /* any bytes: the library escapes what it must, and writes U+FFFD for what is not UTF-8 */
};

/* Writes the text with a terminating 0, cut to `size` bytes, and returns the length of the whole text without that 0,
 * as snprintf() does. With size 0 the buffer may be NULL. The text has about 20 KiB, 4 KiB more for each master and
 * 1 KiB for each class of keys, and each label of the program's in each line. It can grow between two calls, since
 * numbers do, and outcomes and reasons are named when they have come. Negative: E_ARGUMENT (client or buffer is
 * missing, or a label's name is not as above or there twice), E_FORKED. */
REDLOCK_API int redlock_client_metrics(const struct redlock_client *client, const struct redlock_metric_label *labels,
                                       size_t n_labels, char *ret_text, size_t size);

/* The same for the client of a service, from any thread. The call waits for the service's loop. Also E_CLOSING. */
REDLOCK_API int redlock_service_metrics(struct redlock_service *service, const struct redlock_metric_label *labels,
                                        size_t n_labels, char *ret_text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
