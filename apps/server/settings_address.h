/* settings_address.h - the address to listen on: parsing, printing, binding. */
#ifndef SERVER_SETTINGS_ADDRESS_H
#define SERVER_SETTINGS_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* Parses "127.0.0.1:8080", "[::1]:8080", "localhost:8080" or "8080", which is a
 * port of 127.0.0.1. On failure writes a sentence without a final period. */
bool address_parse(const char *text, struct sockaddr_storage *out,
                   socklen_t *size, char *why, size_t why_size);
/* Whether only this machine can reach it. */
bool address_is_loopback(const struct sockaddr_storage *a);
/* The port of an address. */
int address_port(const struct sockaddr_storage *a);
/* Writes "127.0.0.1:8080" or "[::1]:8080". */
void address_print(const struct sockaddr_storage *a, char *out, size_t size);
/* Makes a socket that listens. If the port was 0, *a gets the one that the
 * system chose. Returns -1 on failure, with a sentence in why. */
int address_listen(struct sockaddr_storage *a, socklen_t *size, char *why,
                   size_t why_size);

#endif
