#include "votes/view.h"

#include <assert.h>
#include <string.h>

#include "votes/quorum.h"

#define TURN_MAX (UINT64_C(1) << 53)
#define STEP_MAX UINT64_C(1000000)
#define LEAD_MAX (UINT64_C(1) << 52)

int rl_epoch_compare(const struct rl_epoch *a, const struct rl_epoch *b)
{
    if (a->turn != b->turn)
        return a->turn < b->turn ? -1 : 1;
    if (!rl_same_text(a->run, b->run))
        return memcmp(a->run, b->run, strlen(a->run) + 1);
    return a->step < b->step ? -1 : a->step > b->step;
}

int rl_list_find(const struct rl_member_list *list, const char *node_id)
{
    for (int i = 0; i < list->n; i++) {
        if (rl_same_text(list->members[i].node_id, node_id))
            return i;
    }
    return -1;
}

int rl_list_find_name(const struct rl_member_list *list, const char *name)
{
    for (int i = 0; i < list->n; i++) {
        if (rl_same_text(list->members[i].name, name))
            return i;
    }
    return -1;
}

bool rl_lists_have_same(const struct rl_member_list *a, const struct rl_member_list *b)
{
    for (size_t i = 0; i < a->n; i++) {
        if (rl_list_find(b, a->members[i].node_id) < 0)
            return false;
    }
    return a->n == b->n && a->quorum == b->quorum;
}

/* q + q' > |M united with M'| */
bool rl_lists_meet(const struct rl_member_list *a, const struct rl_member_list *b)
{
    size_t united = a->n;

    for (size_t i = 0; i < b->n; i++)
        united += rl_list_find(a, b->members[i].node_id) < 0;
    return (size_t)a->quorum + b->quorum > united;
}

bool rl_view_remembers(const struct rl_view *view, const char *list_id)
{
    for (size_t i = 0; i < view->n_history; i++) {
        if (rl_same_text(view->history[i], list_id))
            return true;
    }
    return false;
}

/* --- As text ------------------------------------------------------------------------------------------------------ */

struct writer {
    char *at;
    size_t left;
    bool full;
};

static void put(struct writer *writer, const char *text, char behind)
{
    size_t size = strlen(text);

    if (writer->left < size + 1) {
        writer->full = true;
        return;
    }
    memcpy(writer->at, text, size);
    writer->at[size] = behind;
    writer->at += size + 1;
    writer->left -= size + 1;
}

static void put_number(struct writer *writer, uint64_t number)
{
    char digits[RL_DECIMAL_MAX + 1];

    digits[rl_decimal(number, digits)] = '\0';
    put(writer, digits, ' ');
}

static void put_list(struct writer *writer, const struct rl_member_list *list)
{
    put_number(writer, list->quorum);
    for (size_t i = 0; i < list->n; i++) {
        put(writer, list->members[i].node_id, '=');
        put(writer, list->members[i].name, i + 1 < list->n ? ',' : ' ');
    }
    if (!list->n)
        put(writer, "-", ' ');
}

size_t rl_view_format(const struct rl_view *view, char *buffer, size_t size)
{
    struct writer writer = {buffer, size, false};

    assert(view->n_history >= 1 && view->list.n >= 1);
    put_number(&writer, view->epoch.turn);
    put(&writer, view->epoch.run, ' ');
    put_number(&writer, view->epoch.step);
    put(&writer, view->list.id, ' ');
    put(&writer, view->before.n ? view->before.id : "-", ' ');
    for (size_t i = 0; i < view->n_history; i++)
        put(&writer, view->history[i], i + 1 < view->n_history ? ',' : ' ');
    put_number(&writer, view->lead_us);
    put_list(&writer, &view->list);
    put_list(&writer, &view->before);
    return writer.full ? 0 : size - writer.left - 1;
}

/* Takes what is in front of the next separator; the text goes on behind it. */
static struct rl_slice take(struct rl_slice *text, char separator)
{
    const char *begin = text->data;
    const char *end = text->size ? memchr(begin, separator, text->size) : NULL;
    struct rl_slice word = {begin, end ? (size_t)(end - begin) : text->size};

    text->data = end ? end + 1 : begin + text->size;
    text->size -= word.size + (end ? 1 : 0);
    return word;
}

static bool read_number(struct rl_slice word, uint64_t most, uint64_t *ret_number)
{
    *ret_number = 0;
    return word.size && rl_decimal_read(word.data, word.size, ret_number) == word.size && *ret_number <= most;
}

static bool is_hexadecimal(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* `most` characters at most; or exactly so many, where all of them are hexadecimal. */
static bool read_hexadecimal(struct rl_slice word, size_t size, bool is_uuid, char *ret_text)
{
    const char *text = word.data;

    if (word.size != size)
        return false;
    for (size_t i = 0; i < size; i++) {
        bool dash = is_uuid && (i == 8 || i == 13 || i == 18 || i == 23);

        if (dash ? text[i] != '-' : !is_hexadecimal(text[i]))
            return false;
    }
    memcpy(ret_text, text, size);
    ret_text[size] = '\0';
    return true;
}

static bool read_id(struct rl_slice word, char ret_id[RL_ID_SIZE])
{
    return read_hexadecimal(word, RL_ID_SIZE - 1, true, ret_id);
}

bool rl_view_is_name(struct rl_slice word)
{
    const char *text = word.data;
    size_t db = 0;
    uint64_t number;

    for (size_t i = 0; i < word.size; i++) {
        if (text[i] <= ' ' || text[i] > '~' || text[i] == ',' || (*text == '/' && memchr("?#%", text[i], 3)))
            return false;
        db = text[i] == '/' ? i + 1 : db;
    }
    return db && word.size <= RL_NAME_MAX &&
           read_number((struct rl_slice){text + db, word.size - db}, UINT32_MAX, &number);
}

size_t rl_name_shown_size(const char *name)
{
    size_t size = strlen(name);

    return size > 2 && name[size - 2] == '/' && name[size - 1] == '0' ? size - 2 : size;
}

static bool is_twice(const struct rl_member_list *list, const struct rl_member *member)
{
    for (size_t i = 0; i < list->n; i++) {
        if (rl_same_text(list->members[i].node_id, member->node_id) ||
            rl_same_text(list->members[i].name, member->name))
            return true;
    }
    return false;
}

static bool read_members(struct rl_slice text, struct rl_member_list *list)
{
    while (text.size) {
        struct rl_slice one = take(&text, ',');
        struct rl_slice id = take(&one, '=');
        struct rl_member *member = &list->members[list->n];

        if (list->n == RL_MAX_NODES || !read_id(id, member->node_id) || !rl_view_is_name(one))
            return false;
        memcpy(member->name, one.data, one.size);
        if (is_twice(list, member))
            return false;
        list->n++;
    }
    return true;
}

static bool read_list(struct rl_slice quorum, struct rl_slice members, struct rl_member_list *list)
{
    uint64_t number;

    if (!read_number(quorum, RL_MAX_NODES, &number) || !read_members(members, list))
        return false;
    list->quorum = (uint8_t)number;
    return list->n && number >= rl_majority(list->n) && number <= list->n;
}

static bool read_history(struct rl_slice text, struct rl_view *view)
{
    while (text.size) {
        if (view->n_history == RL_HISTORY_MAX || !read_id(take(&text, ','), view->history[view->n_history]))
            return false;
        view->n_history++;
    }
    return rl_view_remembers(view, view->list.id) && (!view->before.id[0] || rl_view_remembers(view, view->before.id));
}

bool rl_view_parse(struct rl_slice text, struct rl_view *ret_view)
{
    struct rl_slice words[11];
    uint64_t step;
    bool has_before;

    memset(ret_view, 0, sizeof *ret_view);
    for (size_t i = 0; i < 11; i++)
        words[i] = take(&text, ' ');
    has_before = !rl_slice_is(words[4], "-");
    if (text.size || !read_number(words[0], TURN_MAX, &ret_view->epoch.turn) || !ret_view->epoch.turn ||
        !read_hexadecimal(words[1], sizeof ret_view->epoch.run - 1, false, ret_view->epoch.run) ||
        !read_number(words[2], STEP_MAX, &step) || !read_id(words[3], ret_view->list.id) ||
        (has_before && !read_id(words[4], ret_view->before.id)) || !read_history(words[5], ret_view) ||
        !read_number(words[6], LEAD_MAX, &ret_view->lead_us) || !read_list(words[7], words[8], &ret_view->list))
        return false;
    ret_view->epoch.step = (uint32_t)step;
    if (!has_before)
        return rl_slice_is(words[9], "0") && rl_slice_is(words[10], "-");
    return read_list(words[9], words[10], &ret_view->before);
}
