#include <stdlib.h>
#include <string.h>

#include "cli/top/top.h"

static size_t n_rows(const struct top *top)
{
    return top->shown ? top->shown->ls.n_rows : 0;
}

static void choose(struct top *top, size_t row)
{
    size_t rows = top_rows(top);

    top->chosen = n_rows(top) == 0 ? 0 : row < n_rows(top) ? row : n_rows(top) - 1;
    if (top->chosen < top->from)
        top->from = top->chosen;
    else if (top->chosen >= top->from + rows)
        top->from = top->chosen - rows + 1;
}

static void move(struct top *top, int by)
{
    choose(top, by < 0 && top->chosen < (size_t)-by ? 0 : top->chosen + (size_t)by);
}

static void leave_key(struct top *top)
{
    free(top->key);
    free(top->picture);
    top->key = top->picture = NULL;
}

static void look_at_chosen(struct top *top)
{
    if (top->chosen >= n_rows(top))
        return;
    leave_key(top);
    top->key = strdup(top->shown->ls.rows[top->chosen].key);
    top->due = true;
}

static void sort(struct top *top)
{
    top->request.sort = (top->request.sort + 1) % (LS_BY_NAME + 1);
    if (top->shown)
        ls_sort(&top->shown->ls);
    choose(top, 0);
}

/* A byte of UTF-8 that is not the first one. */
static bool is_inside_letter(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* A letter of the filter, or its end. */
static void type(struct top *top, char letter)
{
    size_t length = strlen(top->filter);

    if (letter == '\r' || letter == '\n' || letter == '\033') {
        top->typing = false;
        if (letter == '\033')
            top->filter[0] = '\0';
        top->due = true;
        choose(top, 0);
    } else if (letter == '\b' || letter == 0x7f) {
        while (length > 0 && is_inside_letter(top->filter[length - 1]))
            length--;
        if (length > 0)
            top->filter[length - 1] = '\0';
    } else if ((unsigned char)letter >= ' ' && length + 1 < sizeof top->filter) {
        top->filter[length] = letter;
        top->filter[length + 1] = '\0';
    }
}

static void obey(struct top *top, char letter)
{
    switch (letter) {
    case 'q':
        top->ended = true;
        break;
    case 's':
        sort(top);
        break;
    case '/':
        leave_key(top);
        top->typing = true;
        break;
    case '\r':
    case '\n':
        look_at_chosen(top);
        break;
    case '\033':
    case '\b':
    case 0x7f:
        leave_key(top);
        break;
    case ' ':
        top->due = true;
        break;
    case 'j':
        move(top, 1);
        break;
    case 'k':
        move(top, -1);
        break;
    default:
        break;
    }
}

/* Sequences that terminals send for keys; all others are passed over. */
static void obey_sequence(struct top *top, const char *sequence, size_t size)
{
    int page = (int)top_rows(top);
    static const struct {
        const char *sequence;
        int rows, pages;
    } keys[] = {{"[A", -1, 0}, {"[B", 1, 0}, {"OA", -1, 0}, {"OB", 1, 0}, {"[5~", 0, -1}, {"[6~", 0, 1}};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strlen(keys[i].sequence) == size && memcmp(keys[i].sequence, sequence, size) == 0)
            move(top, keys[i].rows + keys[i].pages * page);
}

/* How long the sequence behind an escape is: "[5~", "OA". */
static size_t sequence_size(const char *typed, size_t size)
{
    size_t n = 1;

    if (size == 0 || (typed[0] != '[' && typed[0] != 'O'))
        return 0;
    while (n < size && !(typed[n] >= '@' && typed[n] <= '~'))
        n++;
    return n < size ? n + 1 : size;
}

void top_obey(struct top *top, const char *typed, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        size_t sequence = typed[i] == '\033' ? sequence_size(typed + i + 1, size - i - 1) : 0;

        if (sequence > 0)
            obey_sequence(top, typed + i + 1, sequence);
        else if (top->typing)
            type(top, typed[i]);
        else
            obey(top, typed[i]);
        i += sequence;
    }
}
