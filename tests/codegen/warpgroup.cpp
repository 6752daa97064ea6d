/// Products of warpgroups as PTX: the instructions, and what ptxas makes of them.
#include "codegen/tensor_cores/warpgroup.h"

#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "codegen/tensor_cores/ptx.h"
#include "tests/folder.h"
#include "tests/ptxas.h"
#include "tests/skip.h"

namespace attune {
namespace {

namespace cores = tensor_cores;
namespace llvm_ops = mlir::LLVM;

/// The PTX of a kernel whose body is built with the memory of its block, and stores the sums that `body` gives.
std::string ptx_of_products(const std::function<cores::WarpgroupSums(const cores::Code&, mlir::Value shared)>& body) {
  const auto context = cores::kernel_context();
  cores::Builder builder(mlir::UnknownLoc::get(context.get()), context.get());
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(builder.getLoc());
  builder.setInsertionPointToEnd(module->getBody());
  const auto bytes = llvm_ops::LLVMArrayType::get(builder.getI8Type(), 0);
  llvm_ops::GlobalOp::create(builder, bytes, false, llvm_ops::Linkage::External, "memory", mlir::Attribute(), 1024, 3);
  const auto pointer = llvm_ops::LLVMPointerType::get(context.get(), 1), shared = llvm_ops::LLVMPointerType::get(context.get(), 3);
  auto function =
      llvm_ops::LLVMFuncOp::create(builder, "kernel", llvm_ops::LLVMFunctionType::get(llvm_ops::LLVMVoidType::get(context.get()), {pointer}));
  function->setAttr(mlir::NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  function->setAttr(mlir::NVVM::NVVMDialect::getMaxntidAttrName(), builder.getDenseI32ArrayAttr({128}));
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  const cores::Code code(builder);
  const cores::WarpgroupSums sums = body(code, llvm_ops::AddressOfOp::create(builder, shared, "memory"));
  const mlir::Value thread = mlir::NVVM::ThreadIdXOp::create(builder, builder.getI32Type());
  for (std::size_t i = 0; i < sums.size(); ++i)
    llvm_ops::StoreOp::create(builder, sums[i],
                              code.behind(function.getArgument(0), code.add(code.multiply(thread, 4), static_cast<std::int64_t>(512 * i))));
  llvm_ops::ReturnOp::create(builder, mlir::ValueRange{});
  cores::PtxAnswer answer = cores::ptx_of(*module, cores::Gpus::of_9_0);
  REQUIRE(answer.problem == "");
  return answer.text;
}

/// ptxas takes the text, spills nothing and has nothing to say of products that wait for each other.
void check_assembles(const std::string& ptx) {
  const std::string program = ptxas();
  if (program.empty()) return skip("there is no ptxas on the PATH or in /usr/local/cuda/bin");
  const Folder folder;
  const std::string path = folder.write("kernel.ptx", ptx);
  CAPTURE(ptx);
  CHECK(std::system((program + " -v -arch=sm_90a -o " + path + ".cubin " + path + " > " + path + ".log 2>&1").c_str()) == 0);
  const std::string said = contents(path + ".log");
  CHECK_THAT(said, Catch::Contains("0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"));
  CHECK_THAT(said, !Catch::Contains("serialized"));
}

/// 64 x `columns` sums over `over`, a multiple of 64, in a loop of two rounds.
cores::WarpgroupSums in_a_loop(const cores::Code& code, int columns, const std::function<cores::WarpgroupSums(const cores::WarpgroupSums&)>& round) {
  cores::Code::Values start{code.number(0)};
  start.resize(1 + static_cast<std::size_t>(columns / 2), code.real(0));
  const auto goes_on = [&](const cores::Code::Values& at) { return code.less(at[0], code.number(2)); };
  const cores::Code::Values end = code.loop(start, goes_on, [&](const cores::Code::Values& at) {
    cores::Code::Values sums = round(cores::begin_products(code, {at.begin() + 1, at.end()}));
    cores::end_products(code);
    sums = cores::wait_for_products(code, 0, sums);
    sums.insert(sums.begin(), code.add(at[0], 1));
    return sums;
  });
  return {end.begin() + 1, end.end()};
}

}  // namespace

TEST_CASE("a product of a warpgroup reads both operands from shared memory, either side by rows", "[tensor cores]") {
  for (const bool a_by_rows : {true, false})
    for (const bool b_by_rows : {true, false})
      for (const int columns : {8, 128, 256}) {
        CAPTURE(a_by_rows, b_by_rows, columns);
        const std::string ptx = ptx_of_products([&](const cores::Code& code, mlir::Value shared) {
          const cores::Panels a(code, shared, 64), b(code, code.behind(shared, 8192), b_by_rows ? columns : 64);
          cores::show_to_products(code);
          code.barrier();
          return in_a_loop(code, columns, [&](cores::WarpgroupSums sums) {
            for (int k = 0; k < 64; k += 16)
              sums = cores::multiplied(code, Element::bf16, a_by_rows ? a.by_own_rows(0, k) : a.by_contracted_rows(k, 0),
                                       b_by_rows ? b.by_own_rows(0, k) : b.by_contracted_rows(k, 0), columns, sums);
            return sums;
          });
        });
        CHECK_THAT(ptx, Catch::Contains(".target sm_90a"));
        CHECK_THAT(ptx, Catch::Contains("wgmma.mma_async.sync.aligned.m64n" + std::to_string(columns) + "k16.f32.bf16.bf16"));
        CHECK_THAT(ptx, Catch::Contains(std::string(", 1, 1, 1, ") + (a_by_rows ? "0, " : "1, ") + (b_by_rows ? "0;" : "1;")));
        check_assembles(ptx);
      }
}

TEST_CASE("a product of a warpgroup takes its first operand from registers, and begins a sum without zeros", "[tensor cores]") {
  const std::string ptx = ptx_of_products([](const cores::Code& code, mlir::Value shared) {
    const cores::Panels keys(code, shared, 64), values(code, code.behind(shared, 8192), 64);
    const std::array<mlir::Value, 4> query = code.load_matrices(shared, false);
    cores::show_to_products(code);
    code.barrier();
    return in_a_loop(code, 64, [&](cores::WarpgroupSums sums) {
      cores::WarpgroupSums scores;
      for (int k = 0; k < 64; k += 16) scores = cores::multiplied(code, Element::f16, query, keys.by_own_rows(0, k), 64, scores);
      cores::end_products(code);
      const std::vector<cores::Sums> weights = cores::in_blocks(cores::wait_for_products(code, 0, scores));
      std::vector<std::array<mlir::Value, 4>> first;
      for (std::size_t k = 0; k < 4; ++k) {
        const auto pair = [&](std::size_t block, std::size_t i) {
          return cores::packed(code, Element::f16, weights[block][i], weights[block][i + 1]);
        };
        first.push_back({pair(2 * k, 0), pair(2 * k, 2), pair(2 * k + 1, 0), pair(2 * k + 1, 2)});
      }
      sums = cores::begin_products(code, sums);
      for (int k = 0; k < 4; ++k)
        sums = cores::multiplied(code, Element::f16, first[static_cast<std::size_t>(k)], values.by_contracted_rows(16 * k, 0), 64, sums);
      return sums;
    });
  });
  CHECK_THAT(ptx, Catch::Contains("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"));
  CHECK_THAT(ptx, Catch::Contains(", 0, 1, 1, 0;") && Catch::Contains(", 1, 1, 1, 1;"));
  check_assembles(ptx);
}

}  // namespace attune
