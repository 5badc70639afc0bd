/* Serves the interface Script by Lua. Each call has a state of its own, on the heap that all calls share. */
#include "../../script_output.h"
#include "cairn_library.h"
#include "console.h"
#include "portals.h"
#include "script.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdlib.h>

enum { CONSOLE = CAIRN_PORTAL_FIRST_IMPORT, PORTALS = CONSOLE + CONSOLE_METHODS };
CAIRN_STDIO(CONSOLE);
CAIRN_LOCKS(PORTALS);

SCRIPT_SERVER(lua)

static struct output *output_of(lua_State *state)
{
    return *(struct output **)lua_getextraspace(state);
}

/* `print`, as Lua's manual has it, for the caller. */
static int print(lua_State *state)
{
    int count = lua_gettop(state);
    for (int at = 1; at <= count; at++) {
        size_t length;
        const char *text = luaL_tolstring(state, at, &length);
        if (at > 1)
            add(output_of(state), "\t", 1);
        add(output_of(state), text, length);
        lua_pop(state, 1);
    }
    add(output_of(state), "\n", 1);
    return 0;
}

/* What of `os` has no meaning for a caller. */
static const char *const left_out[] = { "execute", "exit", "getenv", "remove", "rename", "setlocale", "tmpname" };

static const luaL_Reg libraries[] = {
    { LUA_GNAME, luaopen_base },        { LUA_COLIBNAME, luaopen_coroutine }, { LUA_TABLIBNAME, luaopen_table },
    { LUA_OSLIBNAME, luaopen_os },      { LUA_STRLIBNAME, luaopen_string },   { LUA_MATHLIBNAME, luaopen_math },
    { LUA_UTF8LIBNAME, luaopen_utf8 },
};

/* Under `lua_pcall`, since each of these can run out of memory. The script is the argument. */
static int run(lua_State *state)
{
    size_t length;
    const char *text = lua_tolstring(state, 1, &length);
    for (size_t at = 0; at < sizeof libraries / sizeof *libraries; at++) {
        luaL_requiref(state, libraries[at].name, libraries[at].func, 1);
        lua_pop(state, 1);
    }
    lua_register(state, "print", print);
    lua_getglobal(state, LUA_OSLIBNAME);
    for (size_t at = 0; at < sizeof left_out / sizeof *left_out; at++) {
        lua_pushnil(state);
        lua_setfield(state, -2, left_out[at]);
    }
    lua_pop(state, 1);
    /* Only text: Lua believes what it once compiled. */
    if (luaL_loadbufferx(state, text, length, "=script", "t") != LUA_OK)
        return lua_error(state);
    lua_call(state, 0, 0);
    return 0;
}

static int begin(lua_State *state)
{
    const char *const *text = lua_touserdata(state, 1);
    lua_settop(state, 0);
    lua_pushlstring(state, text[0], (size_t)(text[1] - text[0]));
    return run(state);
}

/* Runs the script; whether it ended without an error, which is printed. */
static bool evaluate(lua_State *state, struct output *output, const char *text, size_t length)
{
    const char *range[] = { text, text + length };
    /* New coroutines have the same. */
    *(struct output **)lua_getextraspace(state) = output;
    lua_pushcfunction(state, begin);
    lua_pushlightuserdata(state, range);
    if (lua_pcall(state, 1, 0, 0) == LUA_OK)
        return true;
    size_t message_length = 0;
    const char *message = lua_tolstring(state, -1, &message_length);
    add(output, message ? message : "an error without a text", message ? message_length : 23);
    return false;
}

struct cairn_wide_reply lua_run(uint64_t control, const volatile void *text, size_t length, volatile void *buffer, size_t size)
{
    (void)control;
    struct cairn_wide_reply reply = { .status = CAIRN_ERROR_EXHAUSTED };
    struct output output = { malloc(size + 1), 0, size };
    char *copy = malloc(length + 1);
    lua_State *state = luaL_newstate();
    if (output.bytes && copy && state) {
        bool is_done = false;
        reply.status = CAIRN_ERROR_BAD_POINTER;
        if (cairn_copy_in(copy, text, length) == length) {
            is_done = evaluate(state, &output, copy, length);
            if (cairn_copy_out(buffer, output.bytes, output.length) == output.length)
                reply = (struct cairn_wide_reply){ 0, { output.length, is_done } };
        }
    }
    if (state)
        lua_close(state);
    free(copy);
    free(output.bytes);
    return reply;
}

CAIRN_COMPONENT(
    .name = "lua",
    .import_count = 2,
    .imports = { { "console", CONSOLE, CONSOLE_INTERFACE }, { "portals", PORTALS, PORTALS_INTERFACE } },
    .export_count = 1,
    .exports = { { "script", 0, SCRIPT_INTERFACE, SCRIPT_ENTRIES(lua) } });
