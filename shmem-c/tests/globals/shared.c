/* A library with a variable, of which programs that are not position independent have a copy. */
int shared_number = 11;
int read_shared(void);
int read_shared(void)
{
    return shared_number;
}
