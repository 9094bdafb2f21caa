/* IMPLEMENTATION NOTES
 *
 * - OpenSSL's own socket BIO writes with write(2), which raises SIGPIPE. Ours uses MSG_NOSIGNAL.
 * - An error or the end of the socket is recorded, and OpenSSL is told to try again: so its state remains good for the
 *   other direction. A server that refuses us may hang up on what we write, but its reason can still be read.
 * - A call takes no more than a limit from the socket, so that a peer that sends records without data in them cannot
 *   keep the loop busy. What is left there makes the socket readable again. */
#include "stream/tls_socket.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

/* Taken from the socket by one call. */
#define INPUT_MAX (128 * 1024)

/* A record begins with its type and a version 3.x. */
static bool begins_as_tls(const unsigned char *bytes, size_t size)
{
    return bytes[0] >= SSL3_RT_CHANGE_CIPHER_SPEC && bytes[0] <= SSL3_RT_APPLICATION_DATA &&
           (size < 2 || bytes[1] == SSL3_VERSION_MAJOR);
}

static int socket_read(BIO *bio, char *buffer, size_t size, size_t *ret_size)
{
    struct rl_tls_socket *socket = BIO_get_data(bio);
    size_t wanted = size < socket->input_left ? size : socket->input_left;
    ssize_t n;

    BIO_clear_retry_flags(bio);
    BIO_set_retry_read(bio);
    *ret_size = 0;
    if (!wanted || socket->drained || socket->ended || socket->read_error)
        return 0;
    do
        n = recv(socket->fd, buffer, wanted, 0);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
        socket->read_error = errno;
    socket->ended = n == 0;
    socket->drained = n < (ssize_t)wanted;
    if (n <= 0)
        return 0;
    if (!socket->heard)
        socket->no_tls = !begins_as_tls((const unsigned char *)buffer, (size_t)n);
    socket->heard = true;
    socket->input_left -= (size_t)n;
    BIO_clear_retry_flags(bio);
    *ret_size = (size_t)n;
    return 1;
}

static int socket_write(BIO *bio, const char *data, size_t size, size_t *ret_size)
{
    struct rl_tls_socket *socket = BIO_get_data(bio);
    ssize_t n = -1;

    BIO_clear_retry_flags(bio);
    *ret_size = 0;
    if (!socket->write_error) {
        do
            n = send(socket->fd, data, size, MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
        if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
            socket->write_error = errno;
    }
    if (n < 0) {
        BIO_set_retry_write(bio);
        return 0;
    }
    *ret_size = (size_t)n;
    return 1;
}

static long socket_control(BIO *bio, int command, long number, void *pointer)
{
    return command == BIO_CTRL_FLUSH || command == BIO_CTRL_PUSH || command == BIO_CTRL_POP;
}

static BIO_METHOD *make_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "redlock");

    if (method && BIO_meth_set_read_ex(method, socket_read) && BIO_meth_set_write_ex(method, socket_write) &&
        BIO_meth_set_ctrl(method, socket_control))
        return method;
    BIO_meth_free(method);
    return NULL;
}

BIO *rl_tls_socket_open(struct rl_tls_socket *socket, int fd)
{
    BIO_METHOD *method = socket->method ? socket->method : make_method();
    BIO *bio = method ? BIO_new(method) : NULL;

    *socket = (struct rl_tls_socket){.method = method, .fd = fd};
    if (bio) {
        BIO_set_data(bio, socket);
        BIO_set_init(bio, 1);
    }
    return bio;
}

void rl_tls_socket_fini(struct rl_tls_socket *socket)
{
    BIO_meth_free(socket->method);
    socket->method = NULL;
}

void rl_tls_socket_begin_call(struct rl_tls_socket *socket)
{
    socket->input_left = INPUT_MAX;
    socket->drained = false;
}
