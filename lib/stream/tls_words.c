#include "stream/tls_words.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void write_reason(unsigned long error, char *ret_text, size_t size)
{
    const char *reason = error ? ERR_reason_error_string(error) : NULL;

    if (error && ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE)
        snprintf(ret_text, size, "out of memory");
    else if (reason)
        snprintf(ret_text, size, "%s", reason);
    else if (!error)
        snprintf(ret_text, size, "OpenSSL gives no reason, as when there is no memory");
    else
        snprintf(ret_text, size, "error %lx", error);
}

void rl_tls_words_queue(char *ret_text, size_t size)
{
    write_reason(ERR_peek_error(), ret_text, size);
    ERR_clear_error();
}

/* Not by X509_cmp_current_time(), which OpenSSL 4 deprecates, nor by what replaces it there and is not in 3.0. */
bool rl_tls_is_before_end(const X509 *certificate)
{
    int days = 0;
    int seconds = 0;

    return ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(certificate)) == 1 && (days > 0 || seconds > 0);
}

/* --- The server's certificate ---------------------------------------------------------------------------------- */

/* `when`, in words; "?" if it cannot be read. */
static void write_time(const ASN1_TIME *when, char *ret_text, size_t size)
{
    struct tm tm;

    if (!when || ASN1_TIME_to_tm(when, &tm) != 1 || strftime(ret_text, size, "%Y-%m-%d %H:%M:%S UTC", &tm) == 0)
        snprintf(ret_text, size, "?");
}

static void append(char *text, size_t size, const char *word, size_t length)
{
    size_t used = strlen(text);

    snprintf(text + used, size - used, "%s%.*s", used ? ", " : "", (int)length, word);
}

static void append_name(char *text, size_t size, const GENERAL_NAME *name)
{
    const ASN1_STRING *value = name->type == GEN_DNS || name->type == GEN_IPADD ? name->d.ia5 : NULL;
    char address[INET6_ADDRSTRLEN];
    int family;

    if (!value)
        return;
    if (name->type == GEN_DNS) {
        append(text, size, (const char *)ASN1_STRING_get0_data(value), (size_t)ASN1_STRING_length(value));
        return;
    }
    family = ASN1_STRING_length(value) == 4 ? AF_INET : AF_INET6;
    if ((ASN1_STRING_length(value) == 4 || ASN1_STRING_length(value) == 16) &&
        inet_ntop(family, ASN1_STRING_get0_data(value), address, sizeof address))
        append(text, size, address, strlen(address));
}

/* The first one as UTF-8, or the other text if there is none. */
static void write_common_name(const X509_NAME *name, const char *otherwise, char *ret_text, size_t size)
{
    int place = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
    const X509_NAME_ENTRY *entry = place >= 0 ? X509_NAME_get_entry(name, place) : NULL;
    unsigned char *text = NULL;
    int length = entry ? ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry)) : -1;

    if (length > 0)
        snprintf(ret_text, size, "%.*s", length, (const char *)text);
    else
        snprintf(ret_text, size, "%s", otherwise);
    OPENSSL_free(text);
}

/* Names and addresses that the certificate is for; its common name if it has none. */
static void write_names(const X509 *certificate, char *ret_text, size_t size)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);

    ret_text[0] = '\0';
    for (int i = 0; names && i < sk_GENERAL_NAME_num(names); i++)
        append_name(ret_text, size, sk_GENERAL_NAME_value(names, i));
    GENERAL_NAMES_free(names);
    if (!ret_text[0])
        write_common_name(X509_get_subject_name(certificate), "no name", ret_text, size);
}

static void write_certificate_error(const struct rl_tls_evidence *evidence, long result, char *ret_text, size_t size)
{
    const X509 *certificate = evidence->certificate;
    char text[90] = "?";

    switch (result) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
        if (certificate && !rl_tls_is_before_end(certificate)) {
            write_time(X509_get0_notAfter(certificate), text, sizeof text);
            snprintf(ret_text, size, "the server's certificate has expired on %s", text);
        } else {
            snprintf(ret_text, size, "a CA's certificate behind the server's has expired");
        }
        break;
    case X509_V_ERR_CERT_NOT_YET_VALID:
        if (certificate)
            write_time(X509_get0_notBefore(certificate), text, sizeof text);
        snprintf(ret_text, size, "the server's certificate is not valid before %s", text);
        break;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        if (certificate)
            write_names(certificate, text, sizeof text);
        snprintf(ret_text, size, "the server's certificate is for %s, not for %s", text, evidence->name);
        break;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        if (certificate)
            write_common_name(X509_get_issuer_name(certificate), "?", text, sizeof text);
        snprintf(ret_text, size, "unknown CA: the server's certificate was issued by \"%s\", which is not trusted",
                 text);
        break;
    default:
        snprintf(ret_text, size, "the server's certificate: %s", X509_verify_cert_error_string(result));
    }
}

/* --- Alerts and the rest --------------------------------------------------------------------------------------- */

/* An alert of the server in words; NULL: the reason says it. */
static const char *alert_words(const struct rl_tls_evidence *evidence, int alert)
{
    switch (alert) {
    case SSL_AD_CERTIFICATE_REQUIRED:
        return "the server requires a client certificate (tls_cert_file)";
    case SSL_AD_HANDSHAKE_FAILURE:
        if (evidence->open)
            return "the server wanted to renegotiate the open connection, which is declined";
        if (evidence->asked && !evidence->identified)
            return "the server requires a client certificate (tls_cert_file)";
        return "the server accepts none of the ciphers";
    case SSL_AD_UNKNOWN_CA:
        return "the server does not trust the CA of the client certificate";
    case SSL_AD_CERTIFICATE_EXPIRED:
        return "the server says that the client certificate has expired";
    case SSL_AD_CERTIFICATE_REVOKED:
        return "the server says that the client certificate is revoked";
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_UNKNOWN:
        return "the server refuses the client certificate";
    case SSL_AD_PROTOCOL_VERSION:
        return "protocol version: the server accepts none that is allowed here";
    default:
        return NULL;
    }
}

static const char *reason_words(const struct rl_tls_evidence *evidence, unsigned long error)
{
    int reason = ERR_GET_LIB(error) == ERR_LIB_SSL ? ERR_GET_REASON(error) : 0;

    if (evidence->no_tls)
        return "not TLS: the server speaks another protocol at this port";
    if (reason == SSL_R_UNSUPPORTED_PROTOCOL || reason == SSL_R_WRONG_SSL_VERSION ||
        reason == SSL_R_NO_PROTOCOLS_AVAILABLE)
        return "protocol version: the server accepts none that is allowed here";
    if (reason > SSL_AD_REASON_OFFSET && reason < SSL_AD_REASON_OFFSET + 256)
        return alert_words(evidence, reason - SSL_AD_REASON_OFFSET);
    return NULL;
}

void rl_tls_words(const struct rl_tls_evidence *evidence, char *ret_text, size_t size)
{
    unsigned long error = ERR_peek_error();
    long result = SSL_get_verify_result(evidence->ssl);
    const char *words = reason_words(evidence, error);
    char reason[120];

    if (ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) == SSL_R_CERTIFICATE_VERIFY_FAILED &&
        result != X509_V_OK) {
        write_certificate_error(evidence, result, ret_text, size);
    } else if (words) {
        snprintf(ret_text, size, "%s", words);
    } else {
        write_reason(error, reason, sizeof reason);
        snprintf(ret_text, size, "%s", reason);
    }
    ERR_clear_error();
}
