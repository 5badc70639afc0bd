/* Serves the interface Script by SQLite. Each call opens the database, so that what the last one left is looked after first, and
 * closes it, which takes back a transaction that it did not commit. */
#include "../../script_output.h"
#include "disk.h"
#include "files.h"
#include "imports.h"
#include "script.h"

#include <sqlite3.h>
#include <stdatomic.h>

SCRIPT_SERVER(sqlite)

/* Around all of SQLite; 0: not yet. */
static _Atomic uint32_t lock;

/* Takes it, and makes it before. A caller's thread may be unable to, since it is called home, say: that is its affair, and the
 * next one makes it. */
static int64_t take(void)
{
    static atomic_int is_being_made; /* of a word: the hart exchanges no bytes */
    if (lock == 0) {
        uint64_t portal;
        if (atomic_exchange(&is_being_made, 1))
            return CAIRN_ERROR_BUSY;
        int64_t status = portals_make_lock(PORTALS, &portal);
        if (status == CAIRN_ERROR_EXHAUSTED)
            cairn_panic("the description's `locks`: expected 1");
        if (status != 0) {
            is_being_made = 0;
            return status;
        }
        lock = (uint32_t)portal;
    }
    /* A positive status is the method's own: the lock is taken. */
    int64_t status = lock_lock(lock);
    return status < 0 ? status : 0;
}

/* A row as SQLite's own shell shows one. */
static void add_row(struct output *output, sqlite3_stmt *statement)
{
    for (int column = 0; column < sqlite3_column_count(statement); column++) {
        const char *text = (const char *)sqlite3_column_text(statement, column);
        if (column > 0)
            add(output, "|", 1);
        if (text)
            add(output, text, (size_t)sqlite3_column_bytes(statement, column));
    }
    add(output, "\n", 1);
}

static int run_statement(sqlite3_stmt *statement, struct output *output)
{
    int result;
    while ((result = sqlite3_step(statement)) == SQLITE_ROW)
        add_row(output, statement);
    return result == SQLITE_DONE ? SQLITE_OK : result;
}

static int run_statements(sqlite3 *database, const char *text, struct output *output)
{
    int result = SQLITE_OK;
    while (result == SQLITE_OK && *text != '\0') {
        sqlite3_stmt *statement;
        result = sqlite3_prepare_v2(database, text, -1, &statement, &text);
        if (result == SQLITE_OK && statement)
            result = run_statement(statement, output);
        sqlite3_finalize(statement);
    }
    return result;
}

/* Runs a text that a zero ends; whether without an error, which is printed. */
static bool evaluate(const char *text, struct output *output)
{
    sqlite3 *database = NULL;
    int result = sqlite3_open(DATABASE, &database);
    if (result == SQLITE_OK) {
        /* Nothing that a script says can make the database one that SQLite cannot read. */
        sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        result = run_statements(database, text, output);
    }
    if (result != SQLITE_OK) {
        const char *message = database ? sqlite3_errmsg(database) : sqlite3_errstr(result);
        add(output, message, strlen(message));
    }
    sqlite3_close(database);
    return result == SQLITE_OK;
}

/* Memory, once in a life: SQLite divides the instance's heap, by powers of two, so that it takes a bounded time. */
static bool has_memory(void)
{
    static bool has;
    const struct cairn_startup *startup = cairn_startup();
    if (!has && sqlite3_config(SQLITE_CONFIG_HEAP, (void *)startup->heap, (int)startup->heap_size, 64) == SQLITE_OK)
        has = sqlite3_initialize() == SQLITE_OK;
    return has;
}

static struct cairn_wide_reply run_script(const volatile void *text, size_t length, volatile void *buffer, size_t size)
{
    struct cairn_wide_reply reply = { .status = has_memory() ? files_begin() : CAIRN_ERROR_EXHAUSTED };
    if (reply.status != 0)
        return reply;
    struct output output = { sqlite3_malloc64(size + 1), 0, size };
    char *copy = sqlite3_malloc64(length + 1);
    reply.status = output.bytes && copy ? CAIRN_ERROR_BAD_POINTER : CAIRN_ERROR_EXHAUSTED;
    if (output.bytes && copy && cairn_copy_in(copy, text, length) == length) {
        copy[length] = '\0';
        bool is_done = evaluate(copy, &output);
        /* No fault of the script's: its caller has ended, or somebody has waited for it for too long. */
        if (!is_done && disk_is_called_home())
            reply.status = CAIRN_ERROR_CANCELLED;
        else if (cairn_copy_out(buffer, output.bytes, output.length) == output.length)
            reply = (struct cairn_wide_reply){ 0, { output.length, is_done } };
    }
    sqlite3_free(copy);
    sqlite3_free(output.bytes);
    return reply;
}

struct cairn_wide_reply sqlite_run(uint64_t control, const volatile void *text, size_t length, volatile void *buffer,
                                   size_t size)
{
    (void)control;
    int64_t status = take();
    if (status != 0)
        return (struct cairn_wide_reply){ .status = status };
    disk_begin();
    struct cairn_wide_reply reply = run_script(text, length, buffer, size);
    lock_unlock(lock);
    return reply;
}

CAIRN_COMPONENT(
    .name = "sqlite",
    .import_count = 3,
    .imports = { { "portals", PORTALS, PORTALS_INTERFACE },
                 { "threads", THREADS, THREADS_INTERFACE },
                 { "blocks", BLOCKS, BLOCKS_INTERFACE } },
    .export_count = 1,
    .exports = { { "script", 0, SCRIPT_INTERFACE, SCRIPT_ENTRIES(sqlite) } });
