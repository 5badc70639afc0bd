// A list without the C++ library.
#pragma once

#include <stddef.h>

template <typename Element> class List {
    struct Link {
        Element element;
        Link *next;
    };
    Link *first = nullptr;
    size_t length = 0;

  public:
    List() = default;
    List(const List &) = delete;

    ~List()
    {
        while (first) {
            Link *next = first->next;
            delete first;
            first = next;
        }
    }

    void add(const Element &element)
    {
        Link **end = &first;
        while (*end)
            end = &(*end)->next;
        *end = new Link{ element, nullptr };
        length++;
    }

    size_t size() const
    {
        return length;
    }

    template <typename Take> void each(Take take) const
    {
        for (const Link *link = first; link; link = link->next)
            take(link->element);
    }
};
