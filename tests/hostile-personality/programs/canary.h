/* A process that minds its own business beside those that do not: it computes, and answers whoever asks. */

struct canary { int ask[2], answer[2]; int64_t number; };

static void sing(struct canary *canary)
{
    uint64_t pages = map(16 * 4096, 3, 0x22), sum = 0;
    uint64_t *words = (uint64_t *)pages;
    double root = 2.0;
    CALL(SETPGID, 0, 0, 0, 0);
    for (uint64_t round = 1;; round++) {
        for (uint64_t place = 0; place < 16 * 512; place += 64) {
            if (round > 1 && words[place] != round - 1 + place) exit_(2);
            words[place] = round + place;
        }
        for (int step = 0; step < 20; step++) root = (root + 2.0 / root) / 2;
        if (root < 1.4142135 || root > 1.4142136) exit_(3);
        uint8_t byte = 0;
        if (CALL(READ, canary->ask[0], &byte, 1, 0) == 1) {
            byte++;
            CALL(WRITE, canary->answer[1], &byte, 1, 0);
        }
        sum += round;
    }
}

static void make_canary(struct canary *canary)
{
    equals("pipe", CALL(PIPE2, canary->ask, 04000, 0, 0), 0);
    equals("pipe", CALL(PIPE2, canary->answer, 0, 0, 0), 0);
    canary->number = fork_();
    if (canary->number == 0) sing(canary);
    expect(canary->number > 0, "fork of the canary");
}

static void hear(struct canary *canary, const char *after)
{
    static uint8_t byte = 1;
    uint8_t answer = 0;
    byte += 2;
    equals("ask", CALL(WRITE, canary->ask[1], &byte, 1, 0), 1);
    equals("answer", CALL(READ, canary->answer[0], &answer, 1, 0), 1);
    equals("answer", answer, (uint8_t)(byte + 1));
    say("ok: ");
    say(after);
    say("\n");
}
