// The test library, for the unit tests of every folder.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
