# SPDX-License-Identifier: Apache-2.0
# cmake -DINPUT=file -DOUTPUT=file.inc -P BytesToArray.cmake: the bytes of INPUT as a list of C
# constants, for compilers that cannot include a binary file.
file(READ ${INPUT} content HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," content "${content}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" content "${content}")
file(WRITE ${OUTPUT} "${content}\n")
